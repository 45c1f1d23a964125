"""Stores: the journal, the queue and the bodies of one place together. `queue` is the protocol of queues."""
