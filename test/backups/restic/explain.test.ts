import { expect, test } from 'bun:test'
import { explain } from '../../../src/backups/restic/explain.ts'
import { Messages } from '../../../src/backups/restic/messages.ts'
import { repositoryOf } from '../../../src/backups/restic/repository.ts'

const opening = 'Fatal: unable to open config file: '
const where = 'Is there a repository at the following location?\ns3:http://s3/backups'

/** As restic 0.14, 0.18 and 0.19 printed them. */
const seen: [string, number | null, string][] = [
  ['Fatal: wrong password or no key found', 1, 'target_key'],
  ['Fatal: wrong password or no key found', 12, 'target_key'],
  [`${opening}Stat: The specified key does not exist.\n${where}`, 1, 'target_missing'],
  [`${opening}stat /target/config: no such file or directory\n${where}`, 1, 'target_missing'],
  [`${opening}<config/> does not exist\n${where}`, 1, 'target_missing'],
  ['Fatal: repository does not exist', 10, 'target_missing'],
  // restic 0.14 says so whatever the cause is
  [
    `${opening}Stat: Get "http://s3/backups/?location=": dial tcp 10.0.0.1:9: connect: connection refused\n${where}`,
    1,
    'target_unreachable',
  ],
  [
    `${opening}Stat: dial tcp: lookup nowhere.invalid: no such host\n${where}`,
    1,
    'target_unreachable',
  ],
  [
    'Fatal: create repository at sftp:davit-target:/proc/none failed: file does not exist\n\ndavit-host-key ssh-ed25519 AAAA',
    1,
    'target_not_found',
  ],
  [`${opening}Stat: The specified bucket does not exist\n${where}`, 1, 'target_bucket_missing'],
  [
    'Stat(<config/>) returned error, retrying after 637ms: Stat: The request signature we calculated does not match the signature you provided. Check your key and signing method.',
    null,
    'target_unauthorized',
  ],
  [
    'subprocess ssh: root@nas: Permission denied (publickey).\nFatal: unable to open repository at sftp:x:/y: unable to start the sftp session, error: EOF',
    1,
    'target_unauthorized',
  ],
  [
    'subprocess ssh: Host key verification failed.\nFatal: unable to open repository at sftp:x:/y: unable to start the sftp session, error: EOF',
    1,
    'target_host_key',
  ],
  [
    'Save(<data/84faa609c6>) returned error, retrying after 873ms: client.PutObject: XMinioStorageFull',
    null,
    'target_full',
  ],
  ['Save(<data/84f>) failed: write: no space left on device', 1, 'target_full'],
  [
    'Fatal: unable to create lock in backend: repository is already locked by PID 9 on nas by root (UID 0, GID 0)',
    1,
    'target_locked',
  ],
  ['Fatal: config cannot be loaded: unsupported repository version', 1, 'target_newer'],
  [
    'Fatal: Stat: tls: failed to verify certificate: x509: unknown authority',
    1,
    'target_certificate',
  ],
  [`${opening}Stat: Last-Modified time format is invalid, failed`, 1, 'target_unexpected'],
  [
    'cannot dump file: decrypting blob 50dce failed: ciphertext verification failed',
    2,
    'target_damaged',
  ],
  [
    'Fatal: cannot dump file: ReadFull(<data/04b29f1ec2>): restic-file-too-short',
    1,
    'target_damaged',
  ],
  [
    'Load(<data/e98b3dde8d>, 667721, 874901) returned error, retrying after 4.5s: InvalidRange',
    null,
    'target_damaged',
  ],
  ['config file has zero size, invalid repository?', 1, 'target_damaged'],
  ['panic: runtime error: slice bounds out of range [:16] with capacity 8', 2, 'target_damaged'],
  ['Fatal: repository contains errors', 1, 'target_damaged'],
  [
    'ReadFull(<data/897c8c6d8f>): file is too short\nFatal: There were 2 errors',
    1,
    'target_damaged',
  ],
  [
    'Ignoring "4e83": failed to load snapshot 4e83: LoadRaw(<snapshot/4e83>): invalid data returned',
    0,
    'target_damaged',
  ],
  [
    'unable to remove snapshot/c32d6 from the repository\nRemove(<snapshot/c32d6>) failed: client.RemoveObject: Access Denied',
    0,
    'target_unauthorized',
  ],
  ['Fatal: unable to save snapshot: mkdir /target/data: read-only file system', 1, 'target_denied'],
  ['', null, 'target_slow'],
  ['Killed', 137, 'backup_memory'],
  ['Fatal: something new', 1, 'target_failed'],
]

const repository = repositoryOf({
  id: 'id',
  ownerId: 'owner',
  kind: 'rest',
  url: 'https://davit:p%40ssword-of-rest@rest.example.com/path/',
  password: 'key-of-the-repository',
})

function explained(text: string, exitCode: number | null) {
  const messages = new Messages(undefined)
  messages.end(text)
  return explain({ repository }, { messages, exitCode })
}

test.each(seen)('%s (%p) is %s', (text, exitCode, code) => {
  expect(explained(text, exitCode)).toMatchObject({ code })
})

test('what decides it is found among many lines, and where in its code restic failed isn’t shown', () => {
  const many = Array.from({ length: 500 }, (_, n) => `pack ${n} is odd`).join('\n')
  const stack = 'main.init\n\tgithub.com/restic/restic/cmd/restic/cmd_forget.go:67\nruntime.goexit'
  const { code, message } = explained(`Fatal: repository contains errors\n${many}\n${stack}`, 1)
  expect(code).toBe('target_damaged')
  expect(explained(`Fatal: what it says\n${stack}`, 1).message).toEndWith('what it says.')
  expect(message.length).toBeLessThan(300)
})

test('no secret is in a failure', () => {
  const { where, secrets } = repository
  expect(where).toBe('https://rest.example.com/path/')
  const { message } = explained(
    'Fatal: https://davit:p%40ssword-of-rest@rest.example.com: p@ssword-of-rest key-of-the-repository',
    1,
  )
  for (const secret of secrets) expect(message).not.toContain(secret)
  expect(secrets).toHaveLength(3)
})

test('what is in the arguments of restic is no secret', () => {
  const target = { id: 'id', ownerId: 'owner', password: 'key-of-the-repository' }
  const sftp = repositoryOf({
    ...{ ...target, kind: 'sftp' as const, host: '[::1]:2222', user: 'backup' },
    ...{ path: '/srv', key: 'PRIVATE KEY', hostKey: 'ssh-ed25519 AAAA' },
  })
  const shown = [...sftp.options, sftp.setup].join()
  for (const secret of sftp.secrets) expect(shown).not.toContain(secret)
  expect(sftp.env.DAVIT_SSH_CONFIG).toContain('HostName "::1"\n  Port "2222"\n  User "backup"')
  expect(sftp.env.DAVIT_SSH_CONFIG).toContain('StrictHostKeyChecking "yes"')
  // a line break would be another setting of ssh
  const user = 'x"\n  ProxyCommand touch /tmp/x'
  expect(() =>
    repositoryOf({ ...target, kind: 'sftp', host: 'nas', user, path: '/', key: '' }),
  ).toThrow()
})
