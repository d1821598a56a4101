import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { SmtpSettings } from '../../src/mail/mailer.ts';

export interface MailServer {
  readonly port: number;
  /** Received so far. */
  readonly mails: { to: string[]; content: string }[];
  stop(): Promise<void>;
}

/** Nothing listens there. */
export const unreachableMailServer: SmtpSettings = {
  host: '127.0.0.1',
  port: 1,
  isSecure: false,
  from: 'millrace@example.org',
};

/** Starts a mail server that ends with the test. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mailServer = await openMailServer(options);
  onTestFinished(() => mailServer.stop());
  return mailServer;
}

/** Starts a mail server that the caller stops. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: MailServer['mails'] = [];
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
  return {
    port: (mailServer.server.address() as AddressInfo).port,
    mails,
    stop: () => new Promise(resolve => void mailServer.close(() => resolve())),
  };
}
