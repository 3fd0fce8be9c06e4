"""What do many models need on many targets?

``sweep(models, targets)`` gives a row for each pair. Nothing here knows how a byte is counted: a row is made by
``answers``. To read on:

    sweep, rows              the entry point, and one row
    engine                   batches through a pool; rows come in order, and a batch that fails costs its own row only
    processes                the pool of this machine, which pebble keeps; a dask cluster is in engine
    results, resume, tables  the file of rows (.jsonl, .csv, .parquet), and what a continued run need not do again
    limits                   the time and memory that one row may take
    difference, plot         two results side by side; a result as a picture
    objective                the smallest arena as the objective of a search
"""
