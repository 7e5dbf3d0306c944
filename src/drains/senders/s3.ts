import { promisify } from 'node:util'
import { lineJson } from '../../logs/log-line.tsx'
import { call } from '../../notifications/senders/request.ts'
import { urlField } from '../../web/address-fields.ts'
import { lineField } from '../../web/labelled-fields.ts'
import { drainSender, hints } from './sender.ts'
import type { Batch } from './sender.ts'

/** Seconds for which the signature of a request is valid. */
const validFor = 300

const key = /^[\w!.*'()/-]*$/

/** Objects of compressed lines with JSON. The same lines have the same name, so that a repeated attempt adds none. */
export const s3 = drainSender({
  label: 'S3',
  fields: (config) => ({
    endpoint: urlField('Endpoint', config, { example: 'https://s3.eu-central-1.amazonaws.com' }),
    bucket: lineField('Bucket', { max: 100, code: true }),
    region: lineField('Region', {
      max: 100,
      code: true,
      hint: 'Leave empty for us-east-1, which most other servers take.',
    }).nullish(),
    prefix: lineField('Prefix', {
      max: 300,
      code: true,
      placeholder: 'logs/',
      hint: 'What names of objects begin with.',
    })
      .regex(key, 'must be letters, digits, and characters such as - and /.')
      .nullish(),
    accessKey: lineField('Access key', { max: 200, code: true }),
    secretKey: lineField('Secret key', { max: 300, type: 'password' }),
  }),
  most: { lines: 20_000, length: 2 * 2 ** 20 },
  waitMs: 60_000,
  async send(deps, { bucket, endpoint, region, ...settings }, batch) {
    const client = new Bun.S3Client({
      ...{ bucket, endpoint, region: region ?? 'us-east-1' },
      ...{ accessKeyId: settings.accessKey, secretAccessKey: settings.secretKey },
    })
    const { project, environment } = batch
    const of = { project: project.name, environment: environment.name }
    const text = batch.lines
      .map((one) => `${JSON.stringify({ ...lineJson(one), ...of })}\n`)
      .join('')
    const { gzip } = await import('node:zlib')
    const body = await promisify<Buffer, Buffer>(gzip)(Buffer.from(text))
    const name = `${settings.prefix ?? ''}${nameOf(batch)}`
    await call(deps, {
      title: 'The S3 server',
      // signed here and sent by Davit’s own client, which connects to the address that was checked
      url: client.presign(name, { method: 'PUT', expiresIn: validFor }),
      method: 'PUT',
      headers: { 'Content-Type': 'application/gzip' },
      body: new Uint8Array(body),
      reasonIn: (_, text) => /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1],
      hints: {
        ...hints,
        400: 'Check the region and the keys of the drain.',
        403: 'Check the keys of the drain, that they may write to the bucket, and the clock of this server.',
        404: 'Check the endpoint and the bucket of the drain.',
      },
      mayPass: () => true, // it looks at no line
    })
  },
})

/** By environment and time. The drain and the first line make it unique. */
function nameOf({ environment, drainId, lines: [first] }: Batch) {
  const [day, time] = new Date(first!.time).toISOString().split('T') as [string, string]
  const sequence = String(first!.sequence).padStart(12, '0')
  const at = time.slice(0, 8).replaceAll(':', '')
  return `${environment.id}/${day.replaceAll('-', '/')}/${at}-${drainId.slice(-12)}-${sequence}.ndjson.gz`
}
