"""Write a GGUF model of random weights: a real server takes it, and answers nonsense.

python random_model.py OUT.gguf

A llama of two small layers whose tokens are bytes. It knows no language: what it shows
is that a real server's replies go through the wire, the limits and the parser.
"""

import sys

import gguf  # type: ignore[import-not-found]
import numpy  # type: ignore[import-not-found]

WIDTH, LAYERS, HEADS, INNER, CONTEXT = 64, 2, 4, 128, 32_768
SPECIAL = ("<unk>", "<s>", "</s>")
TURNS = (
    "{% for message in messages %}<{{ message['role'] }}>\n{{ message['content'] }}\n"
    "{% endfor %}<assistant>\n"
)


def main() -> None:
    random = numpy.random.default_rng(7)
    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    writer.add_name("random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([*kinds, *[gguf.TokenType.BYTE] * 256])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TURNS)

    def tensor(
        name: str, *shape: int, ones: bool = False, first: object = None
    ) -> None:
        data = numpy.ones(shape) if ones else random.normal(0.0, 0.08, shape)
        if first is not None:
            data[:, 0] = first
        writer.add_tensor(name, data.astype(numpy.float32))

    # The first place of every token is 1, so that what stands there in `output` weighs
    # each byte: ASCII rather than parts of characters, and a quote now and then, or no
    # text would ever end.
    tensor("token_embd.weight", len(tokens), WIDTH, first=1.0)
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensor(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        tensor(f"blk.{layer}.attn_norm.weight", WIDTH, ones=True)
        tensor(f"blk.{layer}.ffn_norm.weight", WIDTH, ones=True)
        tensor(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        tensor(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        tensor(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    tensor("output_norm.weight", WIDTH, ones=True)
    tensor("output.weight", len(tokens), WIDTH, first=[_weight(t) for t in tokens])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _weight(token: str) -> float:
    """How readily a token is written."""
    if token in SPECIAL:
        return 0.0
    byte = int(token[3:5], 16)
    if chr(byte) in '"]}':
        return 0.4
    return 0.0 if 32 <= byte < 127 and byte != 92 else -1.0


main()
