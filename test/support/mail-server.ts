import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

/** Returns the port of a mail server, and what it receives. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const mails: { to: string[]; content: string }[] = [];
  const mailServer = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const content = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), content });
        done();
      });
    },
    ...options,
  });
  mailServer.listen(0, '127.0.0.1');
  await once(mailServer.server, 'listening');
  onTestFinished(() => new Promise(resolve => void mailServer.close(() => resolve())));
  return { port: (mailServer.server.address() as AddressInfo).port, mails };
}
