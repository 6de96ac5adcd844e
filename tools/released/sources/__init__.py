"""Where released tools get their data: the service their name says, asked as the authors ask it, or a stand-in.

A source gives a reply in the form of that service, so that one text format serves both.
"""
