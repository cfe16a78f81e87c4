"""What commands print over real data, recorded: `make golden` makes the record anew."""
