"""Whether the endpoints of models answer, which models they list, and on what terms they are asked."""
