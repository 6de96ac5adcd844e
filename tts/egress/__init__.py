"""What left this machine, and for which request.

`records` is where transports record each request that they send. `request_egress` collects the records of one request
for its event `left_machine`. `log_file` keeps them in the file `tools.outgoing_log`; `log_writer` is the interface
that writes into it, in the process of the tools or in another one.
"""
