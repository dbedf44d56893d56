"""What only the book needs: published points, readings of the paper, its scoreboard, the leaderboard, the ratings.

Nothing in `bai` outside this folder imports it.
"""
