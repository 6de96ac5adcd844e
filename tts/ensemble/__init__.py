"""N rollouts of one request as a whole: who has to go on, who may stop, when more are needed."""
