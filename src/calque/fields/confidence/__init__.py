"""What confidences are worth: rankings, average precision and calibration."""
