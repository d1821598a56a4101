/**
 * Address on which a sandbox listens for its own program. Each sandbox has a network of its own, so that the port is always free, and
 * nothing else is there.
 */
export const sandboxListenerAddress = { host: '127.0.0.1', port: 8000 } as const;

const { host, port } = sandboxListenerAddress;

/** Listens in the sandbox, passes the listener on to the server, where it stays in the network of the sandbox, and ends. */
const listenScript = `
const listener = require('node:net').createServer();
listener.listen(${port}, '${host}', () => process.send('listener', listener, {}, () => process.exit()));
`;

/** Node in little memory, without the code that it would compile. */
export const listenArguments = ['--jitless', '-e', listenScript] as const;
