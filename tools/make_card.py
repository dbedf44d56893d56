"""Draw the picture that a shared link to the book shows, 1200 by 630 pixels.

python tools/make_card.py _static/card.png
"""

import sys

import matplotlib.pyplot as plt

INK, PAPER, QUIET, NOISY = "#ffffff", "#0b4f7d", "#9ad0f5", "#ffb94a"


def main(path):
    figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor=PAPER)
    figure.text(0.06, 0.70, "Best-Arm Identification\nwith Unequal Noise", color=INK, size=44, weight="bold")
    about = "An executable book: teaches, proves, re-runs\nand critically reproduces a paper of UAI 2023"
    figure.text(0.06, 0.50, about, color=QUIET, size=24)
    axes = figure.add_axes((0.0, 0.02, 1.0, 0.44), facecolor=PAPER)
    means = [0.2, 0.45, 0.3, 0.55, 0.4, 0.75, 0.25, 0.5, 0.35, 0.3]
    spreads = [0.06, 0.12, 0.05, 0.09, 0.16, 0.26, 0.07, 0.1, 0.05, 0.13]
    best = means.index(max(means))
    for arm, (mean, spread) in enumerate(zip(means, spreads, strict=True)):
        color = NOISY if arm == best else QUIET
        axes.plot([arm, arm], [mean - spread, mean + spread], color=color, lw=9, solid_capstyle="round")
        axes.plot(arm, mean, "o", color=INK, ms=26 if arm == best else 20)
    axes.set(xlim=(-1, len(means)), ylim=(0, 1.1))
    axes.axis("off")
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
