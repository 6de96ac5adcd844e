"""Evaluation: data sets, recorded runs, scores, rewards, calibration, drawn scenes, acceptance of engines."""
