import { expect, test } from 'bun:test'
import { parseAddress } from '../../src/docker/address.ts'

test('without a host it is the local socket', () => {
  expect(parseAddress(undefined)).toMatchObject({ kind: 'socket', path: '/var/run/docker.sock' })
  expect(parseAddress('')).toMatchObject({ kind: 'socket', path: '/var/run/docker.sock' })
})

test.each([
  ['unix:///run/user/1000/docker.sock', { kind: 'socket', path: '/run/user/1000/docker.sock' }],
  ['tcp://10.0.0.5:2375', { kind: 'tcp', host: '10.0.0.5', port: 2375, tls: false }],
  ['tcp://engine', { kind: 'tcp', host: 'engine', port: 2375 }],
  ['engine:4000', { kind: 'tcp', host: 'engine', port: 4000 }],
  ['ssh://deploy@engine', { kind: 'ssh', host: 'engine', port: 22, username: 'deploy' }],
  ['ssh://engine:2222', { kind: 'ssh', host: 'engine', port: 2222, username: null }],
])('%s is understood', (host, address) => {
  expect(parseAddress(host)).toMatchObject(address)
})

test('DOCKER_TLS_VERIFY turns tcp:// to TLS on its own port', () => {
  const env = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' }
  const address = { kind: 'tcp', port: 2376, tls: true, certPath: '/certs' }
  expect(parseAddress('tcp://engine', env)).toMatchObject(address)
})

test.each(['unix://relative.sock', 'ftp://engine', 'tcp://', 'npipe:////./pipe/docker_engine'])(
  '%s is refused with the forms that work',
  (host) => {
    expect(() => parseAddress(host)).toThrow('is invalid')
  },
)
