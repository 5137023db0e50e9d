"""What the integration tests stand on: a real Envoy, a scripted app, senders, an admin client."""
