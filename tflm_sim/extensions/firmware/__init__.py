"""Does the user's own program work, and what does it say about itself?

reading                    what its file says: models, arenas, structs, version, kernels
emulation                  what it does when it is executed
judge, cases, rooms,       whether every model in it fits, and on which conditions; placement: whose bytes are the
placement, conditions      arena's
measured, execution,       the same by executing it, held against the simulation
executed_facts
document, text,            how that is written as JSON and as text
executed_document,
executed_text,
execution_text
cli, cli_run               the verb: the program read, or executed
described, program_facts,  a program given to another verb as ``--firmware``
pipes
"""
