// The order desk on Mastra, at /api/agents/order-desk. `npm install && npm start`
// A scripted model stands for the language model, so that it needs no key.
import { serve } from '@hono/node-server';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { MastraServer } from '@mastra/hono';
import { Hono } from 'hono';
import { z } from 'zod';

const PLACES = { 1: 'at sea', 2: 'at the depot' };

const findOrder = createTool({
  id: 'find_order',
  description: 'Returns where an order is.',
  inputSchema: z.object({ order: z.number() }),
  execute: async ({ order }) => {
    if (!(order in PLACES)) throw new Error(`there is no order ${order}`);
    return { place: PLACES[order] };
  },
});

function think(prompt) {
  const asked = prompt.filter((message) => message.role === 'user').at(-1);
  const text = asked.content.map((part) => part.text ?? '').join('');
  const order = Number(/order (\d+)/.exec(text)?.[1] ?? 0);
  const last = prompt.at(-1);
  if (last.role !== 'tool') {
    const toolCallId = `call-${prompt.length}`;
    const input = JSON.stringify({ order });
    return { type: 'tool-call', toolCallId, toolName: 'find_order', input };
  }
  const place = last.content[0].output?.value?.place;
  const said = place ? `Order ${order} is ${place}.` : `I can't find order ${order}.`;
  return { type: 'text', text: said };
}

const usage = { inputTokens: 20, outputTokens: 8, totalTokens: 28 };
const about = { id: 'response', modelId: 'scripted', timestamp: new Date(0) };

const model = {
  specificationVersion: 'v2',
  provider: 'example',
  modelId: 'scripted',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const part = think(prompt);
    const finishReason = part.type === 'text' ? 'stop' : 'tool-calls';
    return { content: [part], finishReason, usage, warnings: [], response: about };
  },
  async doStream({ prompt }) {
    const part = think(prompt);
    const finishReason = part.type === 'text' ? 'stop' : 'tool-calls';
    const stream = new ReadableStream({
      start(out) {
        out.enqueue({ type: 'stream-start', warnings: [] });
        out.enqueue({ type: 'response-metadata', ...about });
        if (part.type === 'text') {
          out.enqueue({ type: 'text-start', id: 't' });
          out.enqueue({ type: 'text-delta', id: 't', delta: part.text });
          out.enqueue({ type: 'text-end', id: 't' });
        } else {
          out.enqueue(part);
        }
        out.enqueue({ type: 'finish', finishReason, usage });
        out.close();
      },
    });
    return { stream };
  },
};

const desk = new Agent({
  id: 'order-desk',
  name: 'order-desk',
  instructions: 'Look every order up before you say where it is.',
  model,
  tools: { find_order: findOrder },
});

const app = new Hono();
const mastra = new Mastra({ agents: { 'order-desk': desk } });
await new MastraServer({ app, mastra }).init();
const port = Number(process.env.PORT ?? 4111);
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log('listening'));
