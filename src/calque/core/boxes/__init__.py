"""What every task on boxes shares: how sides are read and laid over each other, and under which labels."""
