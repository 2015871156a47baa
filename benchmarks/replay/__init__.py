"""An API server that replays a recording for thousands of jobs at once: enough of one for the controller to work on."""
