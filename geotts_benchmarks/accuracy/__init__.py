"""How far answers are from the truth, on photos and on drawn scenes, and what N and each kind of clue contribute."""
