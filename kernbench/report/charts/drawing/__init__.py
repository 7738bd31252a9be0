"""What all charts share: layout, axes, styles, keys, SVG."""
