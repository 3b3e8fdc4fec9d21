"""The tour of docs/tour.md from Python: the comment above each part is the command that does the same.

Run it in the folder that holds `examples/`; it writes its files there.
"""

import tapeformer as tf

palindrome = tf.gallery_machine("palindrome")

# tapeformer machines
for name in tf.gallery_names():
    print(name, "-", tf.gallery_machine(name).description.split("\n")[0])

# tapeformer show palindrome --svg palindrome.svg
print(palindrome, *palindrome.rules, sep="\n  ")
with open("palindrome.svg", "w") as file:
    file.write(tf.state_diagram(palindrome))

# tapeformer simulate examples/ones.jff 1100
print(tf.simulate(tf.load("examples/ones.jff"), "1100"))

# tapeformer convert binary_increment --to morphett
print(tf.dumps(tf.gallery_machine("binary_increment"), "morphett"))

# tapeformer run palindrome_two_tapes abba
print(tf.run("palindrome_two_tapes", "abba"))

# tapeformer run palindrome abba
print(tf.run("palindrome", "abba"))

# tapeformer run 1RB1LB_1LA0LC_1RZ1LD_1RD0RA
print(tf.run("1RB1LB_1LA0LC_1RZ1LD_1RD0RA"))

# tapeformer run palindrome abba --show
for token in tf.stream("palindrome", "abba"):
    print(token.number, token.steps, token.state, token.tapes, token.token)

# tapeformer run bf_interpreter '++[-]'
print(tf.run("bf_interpreter", "++[-]"))

# tapeformer run 1RB0LC_1RC1RD_1LA0RB_0RE1RZ_1LC1RA
answer = tf.run("1RB0LC_1RC1RD_1LA0RB_0RE1RZ_1LC1RA")
print(answer, "levels added while it ran:", answer.grown)

# tapeformer verify palindrome abba ab
print(tf.verify("palindrome", "abba", "ab"))

# tapeformer verify palindrome abbaabba --construction paper --claims
print(tf.verify("palindrome", "abbaabba", construction="paper", claims=True)[0].claims)

# tapeformer run palindrome abba --construction paper --levels 2 --heads queue
print(tf.run("palindrome", "abba", construction="paper", levels=2, heads="queue"))

# tapeformer info palindrome --levels 5 --head 1
print(tf.compile_machine(palindrome, levels=5).explain(head=1))

# tapeformer info palindrome --levels 4 --neuron 895
print(tf.info("palindrome", levels=4, neuron=895)["explanations"])

# tapeformer compile palindrome --until circuit --show
print(tf.stage_text(palindrome, "circuit"))

# tapeformer compile palindrome -o palindrome.model
model = tf.compile_machine(palindrome)
model.save("palindrome.model", overwrite=True)
print(model)

# tapeformer run palindrome.model abba --trace cot.jsonl
with open("cot.jsonl", "w", encoding="utf-8") as file:
    for token in tf.stream(tf.load_bundle("palindrome.model"), "abba"):
        print(token.json(), file=file)

# tapeformer run palindrome --batch examples/words.txt --answers answers.jsonl
print(tf.run_batch_file("palindrome", "examples/words.txt", "answers.jsonl").outcomes)
print(tf.run_batch("palindrome", ["abba", "ab"]))

# tapeformer queue balanced abba
print(tf.run_queue_table("balanced", "abba"))
