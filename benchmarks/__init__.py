"""What ``asv`` times at every commit (``asv.conf.json``): CPU time, memory, and figures that must not move."""
