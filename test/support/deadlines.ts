/**
 * Deadline of waits in tests, in milliseconds. It is a backstop for what never happens: on a machine that is busy with something else, what
 * usually takes a second may take minutes.
 */
export const waitTimeoutMs = 240_000;

/** Deadline of waits for encodes, in milliseconds: they give way to everything else on the machine. */
export const encodeTimeoutMs = 480_000;
