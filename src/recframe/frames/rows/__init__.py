"""Operators on rows of ids, ranks and gains that know no recommender: joins, places in lists, packed numbers, questions."""
