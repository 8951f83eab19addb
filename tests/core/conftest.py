from hypothesis import settings

# The speed of the machine is no property of the code.
settings.register_profile("core", deadline=None, max_examples=80)
settings.load_profile("core")
