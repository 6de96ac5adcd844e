"""Reads the text in photos: finds lines and reads them in the scripts for which there are models."""
