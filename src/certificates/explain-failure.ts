import { AppError, messageOf } from '../shared/errors.ts';
import type { ChallengeType } from './acme.store.ts';
import { AcmeProblem } from './acme-client.ts';
import { AcmeUnreachable } from './acme-transport.ts';
import { ChallengeFailure, OrderUnfinished } from './complete-order.ts';

/** Facts about this server that explain why an order failed. */
interface FailureFacts {
  readonly directory: string;
  readonly domains: readonly string[];
  readonly httpPort: number;
  readonly httpsPort: number | undefined;
  /** Addresses of the failed domain in DNS. Empty when it has none, or they could not be found out. */
  readonly domainAddresses: readonly string[];
  readonly ownAddresses: readonly string[];
}

/** Tells why there is no certificate, and what to do. */
export function explainFailure(error: unknown, facts: FailureFacts): string {
  const authority = `The certificate authority ${URL.parse(facts.directory)?.host ?? facts.directory}`;
  if (error instanceof ChallengeFailure) return explainChallenge(error, facts, authority);
  if (error instanceof AcmeUnreachable) return explainUnreachable(error, authority);
  if (error instanceof OrderUnfinished) return `${authority} has not finished the order yet.`;
  if (error instanceof AcmeProblem) return explainProblem(error, facts, authority);
  if (error instanceof AppError) return error.message;
  return `${authority} gave an answer that this server does not understand (${messageOf(error)}). Check the address tls.acmeDirectory.`;
}

function explainUnreachable({ code, message }: AcmeUnreachable, authority: string): string {
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED/.test(code)) {
    return `${authority} has a certificate that this server does not trust (${message}). If it is your own, set tls.acmeCa to the file with its root certificate.`;
  }
  return `${authority} cannot be reached (${message}). It may be down, or a firewall or name server keeps this server from reaching it.`;
}

function explainProblem(
  { type, status, message }: AcmeProblem,
  { domains }: FailureFacts,
  authority: string,
): string {
  const said = `It said: ${message}`;
  const names = domains.join(', ');
  switch (type) {
    case 'rateLimited':
      return `${authority} has had too many requests for ${names} or this account, and accepts no more for now. ${said}`;
    case 'rejectedIdentifier':
    case 'unsupportedIdentifier':
      return `${authority} does not issue certificates for one of the names ${names}. Correct tls.domains. ${said}`;
    case 'caa':
      return `A CAA record in DNS forbids this certificate authority to issue for ${names}. Change the record. ${said}`;
    case 'invalidContact':
    case 'unsupportedContact':
      return `${authority} refuses the email address. Correct tls.email. ${said}`;
    case 'externalAccountRequired':
      return `${authority} needs an account that you have with it. Set tls.acmeKeyId and tls.acmeMacKey to the key id and the HMAC key that it gave you. ${said}`;
    case 'userActionRequired':
      return `${authority} wants you to agree to its new terms. ${said}`;
    default:
      break;
  }
  if (status === 429) return `${authority} has had too many requests, and accepts no more for now. ${said}`;
  if (status >= 500) return `${authority} is down or overloaded. ${said}`;
  if (status === 404) return `${authority} does not know the address. Check tls.acmeDirectory. ${said}`;
  return `${authority} refused the request. ${said}`;
}

function explainChallenge(failure: ChallengeFailure, facts: FailureFacts, authority: string): string {
  const { type, domain, challengeType, message } = failure;
  const said = `It said: ${message}`;
  const where = describeAddresses(domain, facts);
  const port = challengeType === 'http-01' ? 80 : 443;
  switch (type) {
    case 'dns':
      return `${authority} found no address of ${domain} in DNS. Add an A or AAAA record with the address of this server. ${where} ${said}`;
    case 'connection':
      return `${authority} could not connect to port ${port} of ${domain}. Check that the name leads to this server and that no firewall blocks the port: ${describePort(challengeType, facts)}. ${where} ${said}`;
    case 'caa':
      return `A CAA record of ${domain} in DNS forbids this certificate authority. Change the record. ${said}`;
    case 'unauthorized':
    case 'incorrectResponse':
    case 'tls':
    case 'malformed':
      return `Something other than this server answered on port ${port} of ${domain}. Check that the name leads to this server, and that no other program or proxy takes the port: ${describePort(challengeType, facts)}. ${where} ${said}`;
    default:
      return `${authority} could not verify ${domain} on port ${port}: ${describePort(challengeType, facts)}. ${where} ${said}`;
  }
}

function describePort(challengeType: ChallengeType, { httpPort, httpsPort }: FailureFacts): string {
  return challengeType === 'http-01'
    ? `port 80 must lead to the HTTP port ${httpPort} of this server`
    : `port 443 must lead to the HTTPS port ${httpsPort} of this server`;
}

function describeAddresses(domain: string, { domainAddresses, ownAddresses }: FailureFacts): string {
  const own = ownAddresses.length === 0 ? 'unknown' : ownAddresses.join(', ');
  const here = `this server's own addresses are ${own} (behind NAT, the name leads to the router's)`;
  return domainAddresses.length === 0
    ? `From here, ${domain} has no address; ${here}.`
    : `From here, ${domain} leads to ${domainAddresses.join(', ')}; ${here}.`;
}
