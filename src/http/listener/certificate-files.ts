import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import type { CertificateSource, KeyPair } from './certificate-source.ts';

/** Reloads changed files. The old certificate stays in use while the new files are unusable. */
export class CertificateFiles implements CertificateSource, Component {
  readonly name = 'certificate';
  readonly #paths: { readonly certPath: string; readonly keyPath: string };
  readonly #log: Logger;
  readonly #intervalMs: number;
  readonly #listeners = new Set<() => void>();
  #certificate: KeyPair | undefined;
  #version = '';
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(options: { certPath: string; keyPath: string; log: Logger; intervalMs?: number }) {
    this.#paths = options;
    this.#log = options.log;
    this.#intervalMs = options.intervalMs ?? 5_000;
  }

  /** @throws AppError `tls-unusable` when the files cannot be read or do not belong together */
  async start(): Promise<void> {
    this.#version = await this.#readVersion();
    this.#certificate = await this.#load();
    this.#timer = setInterval(() => void this.#check(), this.#intervalMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }

  secureContext(): KeyPair {
    if (this.#certificate === undefined)
      throw new AppError('tls-unusable', 'The certificate was not loaded yet.');
    return this.#certificate;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const version = await this.#readVersion();
      if (version === this.#version) return;
      this.#version = version;
      this.#certificate = await this.#load();
      this.#log.info('certificate-changed', { path: this.#paths.certPath });
      for (const listener of [...this.#listeners]) listener();
    } catch (error) {
      this.#log.warn('certificate-kept', { path: this.#paths.certPath, error: messageOf(error) });
    } finally {
      this.#isChecking = false;
    }
  }

  async #readVersion(): Promise<string> {
    const parts = [this.#paths.certPath, this.#paths.keyPath].map(async path => {
      try {
        const { mtimeMs, size, ino } = await stat(path);
        return `${mtimeMs}:${size}:${ino}`;
      } catch (error) {
        throw new AppError('tls-unusable', `The file ${path} cannot be read: ${messageOf(error)}`, {
          cause: error,
        });
      }
    });
    return (await Promise.all(parts)).join(' ');
  }

  async #load(): Promise<KeyPair> {
    const { certPath, keyPath } = this.#paths;
    try {
      const [cert, key] = await Promise.all([readFile(certPath), readFile(keyPath)]);
      createSecureContext({ cert, key });
      return { cert, key };
    } catch (error) {
      throw new AppError(
        'tls-unusable',
        `The certificate ${certPath} with the key ${keyPath} cannot be used: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }
}
