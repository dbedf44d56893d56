"""A figure with a formula, drawn when this is imported: what the first figure of a page needs is then at hand."""

from matplotlib.figure import Figure

figure = Figure()
_ = figure.subplots().set(title="$x^2$", xlabel="x", xscale="log")
figure.draw_without_rendering()
