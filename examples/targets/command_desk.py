"""The order desk as a program: a JSON object on stdin, a JSON object on stdout.

It is started once for each turn. It could be written in any language.
"""

import json
import sys

from python_desk import answer

row = json.load(sys.stdin)
messages = row.get("messages") or [{"role": "user", "content": row["query"]}]
json.dump(answer(row, messages), sys.stdout)
