export interface S3Location {
  readonly bucket: string;
  /** Prefix of all keys: empty, or ends with a slash. */
  readonly prefix: string;
  /** Undefined for Amazon S3. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly usesPathStyle: boolean;
  /** Undefined when they come from the environment. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

const example = 's3://KEY:SECRET@BUCKET/PREFIX?endpoint=https://HOST&region=REGION';
const optionNames = ['endpoint', 'region', 'pathStyle'];
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Says what is wrong with the URL, or returns undefined. Never contains parts of the URL, which has a secret. */
export function describeS3UrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 's3:') {
    return `expected a URL such as ${example}, with a secret that is percent-encoded (/ is %2F, + is %2B)`;
  }
  // A secret that is not encoded would move the end of the bucket.
  if (url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) {
    return `percent-encode the special characters of the secret (/ is %2F, + is %2B, # is %23, @ is %40), as in ${example}`;
  }
  if (!bucketName.test(url.hostname))
    return `the name of the bucket is missing or not valid, as in ${example}`;
  if (url.port !== '') return `the host belongs in "endpoint", as in ${example}`;
  if ((url.username === '') !== (url.password === '')) return `expected both KEY and SECRET, or neither`;
  const unknown = [...url.searchParams.keys()].find(name => !optionNames.includes(name));
  if (unknown !== undefined) return `expected only the options ${optionNames.join(', ')}`;
  return describeOptionProblem(url.searchParams);
}

function describeOptionProblem(options: URLSearchParams): string | undefined {
  const endpoint = options.get('endpoint');
  if (endpoint !== null && !['http:', 'https:'].includes(URL.parse(endpoint)?.protocol ?? '')) {
    return 'endpoint: expected an address such as https://s3.example.org';
  }
  const pathStyle = options.get('pathStyle');
  if (pathStyle !== null && !['true', 'false'].includes(pathStyle))
    return 'pathStyle: expected true or false';
  return undefined;
}

/** Parses a valid URL. Servers other than Amazon's mostly expect the bucket in the path. */
export function parseS3Url(text: string): S3Location {
  const url = new URL(text);
  const prefix = url.pathname.split('/').filter(Boolean).join('/');
  const endpoint = url.searchParams.get('endpoint') ?? undefined;
  const isAmazon = endpoint === undefined || new URL(endpoint).hostname.endsWith('.amazonaws.com');
  const pathStyle = url.searchParams.get('pathStyle');
  return {
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${decodeURIComponent(prefix)}/`,
    endpoint,
    region: url.searchParams.get('region') ?? (isAmazon ? undefined : 'us-east-1'),
    usesPathStyle: pathStyle === null ? !isAmazon : pathStyle === 'true',
    credentials:
      url.username === ''
        ? undefined
        : {
            accessKeyId: decodeURIComponent(url.username),
            secretAccessKey: decodeURIComponent(url.password),
          },
  };
}

/** Describes the location in logs and messages. */
export function describeS3Location({ bucket, prefix, endpoint }: S3Location): string {
  return `s3://${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${new URL(endpoint).origin}`}`;
}
