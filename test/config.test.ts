import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { ConfigError, originOf, parseConfig, unknownSettings } from '../src/config.ts'

function complaint(env: Record<string, string>) {
  try {
    parseConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return null
}

test('without settings Davit is for this machine only', () => {
  expect(parseConfig({})).toEqual({
    host: '127.0.0.1',
    port: 3000,
    url: null,
    domain: null,
    dataDir: resolve('data'),
    secretKey: null,
    registration: 'closed',
    trustedProxies: [],
    rateLimit: 30,
    rateBurst: 60,
    requestTimeout: 15,
    acceptTimeout: 10_000,
    streamsPerUser: 20,
    networkPool: '10.201.0.0/16',
    clusterAddress: null,
    registry: null,
    overlayEncrypted: false,
    allowHosts: [],
    allowLocalRepos: false,
    publishAddress: '127.0.0.2',
    edge: 'auto',
    edgeAdmin: null,
    edgePorts: { http: 80, https: 443 },
    acme: { email: null, directory: null, root: null },
    publicAddresses: [],
    terminal: 'own',
    templatesDir: null,
    buildConcurrency: 1,
    buildMemory: null,
    buildCpus: null,
    buildTimeout: 3_600_000,
    repositorySize: 2048 * 1024 * 1024,
    imageSize: 10240 * 1024 * 1024,
    builder: 'auto',
    settleTime: 3000,
    watchSeconds: 60,
    logDays: 14,
    logSize: 64 * 1024 * 1024,
    resticImage: 'restic/restic:0.18.1',
    sqliteImage: 'python:3.13.7-alpine3.22',
    dockerHost: undefined,
    releases: null,
    releaseKey: null,
    oauth: null,
  })
})

test('every setting is taken', () => {
  const config = parseConfig({
    DAVIT_HOST: '0.0.0.0',
    DAVIT_PORT: '0',
    DAVIT_URL: 'https://davit.example',
    DAVIT_DATA_DIR: '/var/lib/davit',
    DAVIT_SECRET_KEY: 'x'.repeat(32),
    DAVIT_REGISTRATION: 'invite',
    DAVIT_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/08 [2001:DB8::]/032',
    DAVIT_RATE_LIMIT: '100',
    DAVIT_RATE_BURST: '200',
    DAVIT_REQUEST_TIMEOUT: '5',
    DAVIT_STREAMS_PER_USER: '3',
    DAVIT_TERMINAL: 'all',
    DAVIT_NETWORK_POOL: '10.99.0.0/16',
    DAVIT_CLUSTER_ADDRESS: '10.0.0.1',
    DAVIT_REGISTRY: '192.168.0.9:5000/team/davit',
    DAVIT_OVERLAY_ENCRYPTED: '1',
    DAVIT_ALLOW_HOSTS: 'git.lan\n192.168.0.0/16 ',
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_PUBLISH_ADDRESS: '::1',
    DAVIT_BUILD_CONCURRENCY: '2',
    DAVIT_BUILD_MEMORY: '512',
    DAVIT_BUILD_CPUS: '1.5',
    DAVIT_REPOSITORY_SIZE: '100',
    DAVIT_BUILDER: 'classic',
    DAVIT_SETTLE_TIME: '5',
    DAVIT_OAUTH_PROVIDER: 'gitea',
    DAVIT_OAUTH_CLIENT_ID: 'davit',
    DAVIT_OAUTH_CLIENT_SECRET: 'hush',
    DAVIT_OAUTH_BASE_URL: 'https://git.lan',
    DOCKER_HOST: 'ssh://root@build.lan',
  })
  expect(config).toMatchObject({
    host: '0.0.0.0',
    port: 0,
    dataDir: '/var/lib/davit',
    secretKey: 'x'.repeat(32),
    registration: 'invite',
    trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
    rateLimit: 100,
    rateBurst: 200,
    requestTimeout: 5,
    streamsPerUser: 3,
    terminal: 'all',
    networkPool: '10.99.0.0/16',
    clusterAddress: '10.0.0.1',
    registry: '192.168.0.9:5000/team/davit',
    overlayEncrypted: true,
    allowHosts: ['git.lan', '192.168.0.0/16'],
    allowLocalRepos: true,
    publishAddress: '::1',
    buildConcurrency: 2,
    buildMemory: 512 * 1024 * 1024,
    buildCpus: 1.5,
    buildTimeout: 3_600_000,
    repositorySize: 100 * 1024 * 1024,
    builder: 'classic',
    settleTime: 5000,
    dockerHost: 'ssh://root@build.lan',
    oauth: {
      provider: 'gitea',
      clientId: 'davit',
      clientSecret: 'hush',
      baseUrl: 'https://git.lan',
    },
  })
  expect(config.url?.origin).toBe('https://davit.example')
  expect(Object.isFrozen(config)).toBe(true)
})

test('an empty setting counts as none', () => {
  expect(parseConfig({ DAVIT_PORT: '', DAVIT_SECRET_KEY: '' })).toEqual(parseConfig({}))
})

describe('a setting that can’t be used is one line that names it', () => {
  const bad: Record<string, string[]> = {
    DAVIT_PORT: ['http', '-1', '65536', '3000.5', '0x10', ' 80', '1e3', '99999999999'],
    DAVIT_URL: [
      'davit.example',
      'ftp://davit.example',
      'https://davit.example/sub',
      'https://x/?a=b',
    ],
    DAVIT_SECRET_KEY: ['changeme', 'x'.repeat(31)],
    DAVIT_REGISTRATION: ['OPEN', 'yes'],
    DAVIT_HOST: ['a b', 'http://0.0.0.0'],
    DAVIT_TRUSTED_PROXIES: [
      '10.0.0.0/33',
      '127.0.0.1, 300.1.1.1/8',
      '10.0.0.0/8/8',
      'localhost',
      'proxy.lan',
      'fe80::1%eth0', // Caddy wouldn't read it
    ],
    DAVIT_EDGE: ['nginx'],
    DAVIT_EDGE_PORTS: ['80', '80,80', '0,443', '80,70000'],
    DAVIT_EDGE_ADMIN: ['caddy', 'http://x/y'],
    DAVIT_ACME_EMAIL: ['ada'],
    DAVIT_ACME_URL: ['acme.example'],
    DAVIT_PUBLIC_ADDRESS: ['example.com', '10.0.0.1/8'],
    DAVIT_RATE_LIMIT: ['0', 'many'],
    DAVIT_RATE_BURST: ['0', '-5'],
    DAVIT_REQUEST_TIMEOUT: ['0', '3601', '15s'],
    DAVIT_STREAMS_PER_USER: ['0'],
    DAVIT_TERMINAL: ['on'],
    DAVIT_NETWORK_POOL: [
      '10.201.0.0',
      '10.201.0.0/25',
      '300.0.0.0/16',
      'fd00::/8',
      '10.201.0.5/16',
    ],
    DAVIT_REGISTRY: [
      ...['https://registry.example.com', 'registry.example.com/', 'registry.example.com/Davit'],
      ...[
        'registry.example.com/davit:1',
        'registry.example.com:x',
        'davit',
        'team/davit',
        'docker.io',
      ],
      ...[
        'registry.example.com/a//b',
        ' registry.example.com',
        'registry.example.com/a b',
        '.example.com',
      ],
      `registry.example.com/${'a'.repeat(200)}`,
    ],
    DAVIT_ALLOW_HOSTS: ['10.0.0.0/40', 'http://git.lan'],
    DAVIT_ALLOW_LOCAL_REPOS: ['true', '2'],
    DAVIT_PUBLISH_ADDRESS: ['localhost', '256.1.1.1'],
    DAVIT_CLUSTER_ADDRESS: ['server1', '::1'],
    DAVIT_BUILD_CONCURRENCY: ['0', '65'],
    DAVIT_BUILD_MEMORY: ['31', '1.5', '2g'],
    DAVIT_BUILD_CPUS: ['0', '0.05', '1,5', '513', '1.555'],
    DAVIT_REPOSITORY_SIZE: ['0', '-1', '2G'],
    DOCKER_HOST: ['/var/run/docker.sock', 'npipe://x', 'unix://'],
  }
  const cases = Object.entries(bad).flatMap(([key, values]) =>
    values.map((value) => [key, value] as const),
  )

  test.each(cases)('%s=%s', (key, value) => {
    expect(complaint({ [key]: value })).toMatch(new RegExp(`^${key} must be [^\\n]+$`))
  })

  test('without the secret that was typed', () => {
    expect(complaint({ DAVIT_SECRET_KEY: 'too short' })).not.toContain('too short')
  })
})

test('a registry at a private address must be allowed', () => {
  const env = { DAVIT_REGISTRY: '10.0.0.5:5000/davit' }
  expect(complaint(env)).toContain('DAVIT_ALLOW_HOSTS=10.0.0.5')
  expect(parseConfig({ ...env, DAVIT_ALLOW_HOSTS: '10.0.0.0/8' }).registry).toBe(
    '10.0.0.5:5000/davit',
  )
  for (const registry of ['docker.io/ada', 'ghcr.io', 'registry.example.com:5000/a/b-c'])
    expect(parseConfig({ DAVIT_REGISTRY: registry }).registry).toBe(registry)
})

test('a name that is no setting is noticed', () => {
  const env = { DAVIT_PROT: '3000', DAVIT_PORT: '3000', PATH: '/bin' }
  expect(unknownSettings(env)).toEqual(['DAVIT_PROT'])
})

test('people reach it at DAVIT_URL, else at its domain, else where it listens', () => {
  const at = (env: Record<string, string>) => originOf(parseConfig(env))
  const DAVIT_DOMAIN = 'example.com'
  expect(at({ DAVIT_URL: 'https://davit.example', DAVIT_DOMAIN })).toBe('https://davit.example')
  expect(at({ DAVIT_DOMAIN })).toBe('https://example.com')
  expect(at({ DAVIT_DOMAIN, DAVIT_EDGE_PORTS: '80,8443' })).toBe('https://example.com:8443')
  expect(at({ DAVIT_DOMAIN, DAVIT_EDGE: 'direct' })).toBe('http://127.0.0.1:3000')
  const local = { DAVIT_DOMAIN: 'davit.localhost', DAVIT_EDGE_PORTS: '8080,8443' }
  expect(at(local)).toBe('http://davit.localhost:8080') // no authority issues a certificate for it
  expect(at({ DAVIT_HOST: '::1' })).toBe('http://[::1]:3000')
})
