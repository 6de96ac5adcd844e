"""Figures of merit, pure and vectorised: errors in km in, numbers out. A missing answer is NaN and never a hit."""
