import type { Transporter } from 'nodemailer';
import type { Secret } from '../shared/secret.ts';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. Otherwise the server may offer STARTTLS. */
  readonly isSecure: boolean;
  readonly user?: string;
  readonly password?: Secret;
  readonly from: string;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const connectTimeoutMs = 10_000;
const silenceTimeoutMs = 15_000;

/** Sends mails over SMTP, each over its own connection. */
export class Mailer {
  readonly #settings: SmtpSettings;
  #transport: Transporter | undefined;

  constructor(settings: SmtpSettings) {
    this.#settings = settings;
  }

  async send({ to, subject, text, html }: Mail): Promise<void> {
    this.#transport ??= await createTransport(this.#settings);
    await this.#transport.sendMail({
      from: this.#settings.from,
      // An address that was typed is not parsed as a list.
      to: { name: '', address: to },
      subject,
      text,
      html,
    });
  }
}

/** Loads the package for the first mail. */
async function createTransport({ host, port, isSecure, user, password }: SmtpSettings): Promise<Transporter> {
  const nodemailer = await import('nodemailer');
  return nodemailer.createTransport({
    host,
    port,
    secure: isSecure,
    // A password must not cross the network in the clear.
    requireTLS: !isSecure && password !== undefined,
    auth: user === undefined ? undefined : { user, pass: password?.reveal() ?? '' },
    connectionTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
