"""What do many models need on many targets?

``sweep(models, targets)`` gives a row for each pair. Nothing here knows how a byte is counted: a row is made by
``answers``. To read on:

    sweep, rows              the entry point, and one row
    engine, processes,       batches through processes of this machine or a dask cluster; rows come in order
    worker
    results, resume, tables  the file of rows (.jsonl, .csv, .parquet), and what a continued run need not do again
    limits                   the time that one row may take
    difference, plot         two results side by side; a result as a picture
    objective                the smallest arena as the objective of a search
"""
