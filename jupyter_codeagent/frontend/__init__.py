"""The link to the side panel: typed messages over one comm per kernel connection."""
