import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPrivateEngine } from '../faults/private-engine.ts'
import { which } from '../support/machine/command.ts'
import { startSshServer } from '../support/ssh-server.ts'

const port = 2376

/** An engine on a host of its own, reached by TLS only, and the folder of those who may. */
export async function engineBehindTls() {
  await using undo = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'davit-tls-'))
  undo.defer(() => rmSync(folder, { recursive: true, force: true }))
  const authority = anAuthority(join(folder, 'ca'))
  const place = (name: string) => join(folder, 'server', name)
  const engine = undo.use(
    await startPrivateEngine({
      listen(address) {
        authority.issue(join(folder, 'server'), { names: [`IP:${address}`], use: 'serverAuth' })
        const files = { tlscacert: 'ca.pem', tlscert: 'cert.pem', tlskey: 'key.pem' }
        const given = Object.entries(files).map(([name, file]) => `--${name}=${place(file)}`)
        return ['-H', `tcp://${address}:${port}`, '--tlsverify', ...given]
      },
    }),
  )
  const own = join(folder, 'client')
  authority.issue(own, { use: 'clientAuth' })
  const expired = join(folder, 'expired')
  authority.issue(expired, { use: 'clientAuth', days: -1 })
  const foreign = join(folder, 'foreign')
  anAuthority(join(folder, 'other')).issue(foreign, { use: 'clientAuth' })
  const env = (certificates = own) => ({
    DOCKER_HOST: `tcp://${engine.address}:${port}`,
    DOCKER_TLS_VERIFY: '1',
    DOCKER_CERT_PATH: certificates,
  })
  const owned = undo.move()
  return {
    ...engine,
    env,
    /** Folders of certificates that must not open it. */
    folders: { expired, foreign, missing: join(folder, 'nowhere') },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** An engine on a host of its own, reached over sshd only, and the home of one who may. */
export async function engineBehindSsh() {
  await using undo = new AsyncDisposableStack()
  const engine = undo.use(await startPrivateEngine())
  const server = await startSshServer({
    address: engine.address,
    inside: engine.inside,
    env: { DOCKER_HOST: engine.host },
  })
  undo.defer(() => server.stop())
  const home = aHome()
  undo.defer(() => rmSync(home, { recursive: true, force: true }))
  const keys = join(home, '.ssh')
  const key = join(keys, 'id_ed25519')
  keygen('-t', 'ed25519', '-N', '', '-f', key)
  const letIn = () => server.allow(readFileSync(`${key}.pub`, 'utf8').trim())
  letIn()
  const scan = ['ssh-keyscan', '-p', String(server.port), engine.address]
  writeFileSync(join(keys, 'known_hosts'), Bun.spawnSync(scan, { stdin: null }).stdout)
  let passphraseNow = ''
  const owned = undo.move()
  return {
    ...engine,
    server,
    /** Lets the key of this home in, after `server.allow` of another one. */
    letIn,
    /** Gives the key of this home another passphrase. */
    seal(passphrase: string) {
      keygen('-p', '-P', passphraseNow, '-N', passphrase, '-f', key)
      passphraseNow = passphrase
    },
    env: () => ({ DOCKER_HOST: server.urlOf(''), HOME: home, SSH_AUTH_SOCK: '' }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function aHome() {
  const home = mkdtempSync(join(tmpdir(), 'davit-home-'))
  mkdirSync(join(home, '.ssh'), { mode: 0o700 })
  return home
}

function keygen(...args: string[]) {
  const { exitCode, stderr } = Bun.spawnSync(['ssh-keygen', '-q', ...args], {
    stdin: null,
    stderr: 'pipe',
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
}

type Wanted = { names?: string[]; use: 'serverAuth' | 'clientAuth'; days?: number }

/** Issues certificates by openssl, in the files that docker's own client looks for. */
function anAuthority(folder: string) {
  mkdirSync(folder)
  const at = (name: string) => join(folder, name)
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const root = ['-x509', '-days', '2', '-subj', '/CN=authority']
  openssl('req', ...root, ...curve, '-keyout', at('key.pem'), '-out', at('ca.pem'))
  return {
    issue(into: string, { names = [], use, days = 2 }: Wanted) {
      mkdirSync(into)
      const of = (name: string) => join(into, name)
      const extensions = [
        `extendedKeyUsage=${use}`,
        ...(names.length > 0 ? [`subjectAltName=${names.join(',')}`] : []),
      ]
      writeFileSync(of('extensions'), extensions.join('\n'))
      const [key, request] = [of('key.pem'), of('request')]
      openssl('req', '-new', '-subj', '/CN=test', ...curve, '-keyout', key, '-out', request)
      const by = ['-CA', at('ca.pem'), '-CAkey', at('key.pem'), '-set_serial', String(Date.now())]
      const form = ['-days', String(days), '-extfile', of('extensions'), '-out', of('cert.pem')]
      openssl('x509', '-req', '-in', request, ...by, ...form)
      copyFileSync(at('ca.pem'), of('ca.pem'))
    },
  }
}

function openssl(...args: string[]) {
  if (!which('openssl')) throw new Error('The test needs openssl: install it.')
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...args], { stdin: null, stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(stderr.toString())
}
