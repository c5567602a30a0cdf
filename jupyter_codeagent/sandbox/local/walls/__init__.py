"""What stands between the code and the machine: the walls of each level, and the processes behind them."""
