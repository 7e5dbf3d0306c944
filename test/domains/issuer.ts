import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Signed = { certificate: string; key: string; path: string }

/** Issues certificates for tests by openssl; all of it is gone when the file ends. */
export function anIssuer() {
  const folder = mkdtempSync(join(tmpdir(), 'davit-issuer-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  async function openssl(...args: string[]) {
    const ran = Bun.spawn(['openssl', ...args], { stdout: 'pipe', stderr: 'pipe' })
    const [text, errors] = await Promise.all([ran.stdout.text(), ran.stderr.text()])
    if ((await ran.exited) !== 0) throw new Error(errors)
    return text
  }

  async function issue({
    names = ['app.test'],
    by = null,
    key = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    days = 90,
    isAuthority = false,
    subject = '/CN=test',
    serial = '0x1234',
    extensions: more = [],
    digest = 'sha256',
  }: Partial<{
    names: string[]
    by: Signed | null
    key: string[]
    days: number
    isAuthority: boolean
    subject: string
    serial: string
    /** Lines of openssl's configuration. */
    extensions: string[]
    digest: string
  }> = {}): Promise<Signed> {
    const path = join(folder, Bun.randomUUIDv7())
    await openssl('genpkey', ...key, '-out', `${path}.key`)
    await openssl('req', '-new', '-key', `${path}.key`, '-subj', subject, '-out', `${path}.csr`)
    const extensions = [
      `basicConstraints=critical,CA:${isAuthority ? 'TRUE' : 'FALSE'}`,
      ...(names.length > 0
        ? [
            `subjectAltName=${names.map((name) => (name.includes(':') ? name : `DNS:${name}`)).join(',')}`,
          ]
        : []),
      ...more,
    ]
    await writeFile(`${path}.ext`, extensions.join('\n'))
    const signer = by
      ? ['-CA', `${by.path}.pem`, '-CAkey', `${by.path}.key`]
      : ['-signkey', `${path}.key`]
    await openssl(
      ...[
        'x509',
        '-req',
        `-${digest}`,
        '-in',
        `${path}.csr`,
        ...signer,
        '-days',
        String(days),
        '-set_serial',
        serial,
      ],
      ...['-extfile', `${path}.ext`, '-out', `${path}.pem`],
    )
    return {
      certificate: await readFile(`${path}.pem`, 'utf8'),
      key: await readFile(`${path}.key`, 'utf8'),
      path,
    }
  }

  return { issue, openssl }
}
