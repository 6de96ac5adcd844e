"""Where released tools get their data: the service in their name, called as the authors call it, or another one in the
same form.

A source gives a reply in the form of that service, so that one text format serves both.
"""
