import { expect, test } from 'bun:test'
import { freeSubnet, isSubnetTaken } from '../../src/docker/index.ts'
import { sandbox } from './sandbox.ts'

const pool = '10.201.0.0/16'

test.each([
  [[], '10.201.0.0/26'],
  [['10.201.0.0/26'], '10.201.0.64/26'],
  [['10.201.0.64/26'], '10.201.0.0/26'],
  [['10.201.0.0/24', '172.17.0.0/16'], '10.201.1.0/26'],
  [['10.201.0.5/32', '10.201.0.70/24'], '10.201.1.0/26'],
  [['fd00::/64', '::1/128'], '10.201.0.0/26'],
  [['10.201.0.0/17'], '10.201.128.0/26'],
])('beside %j the next free subnet is %s', (used, free) => {
  expect(freeSubnet({ pool, prefix: 26, used })).toBe(free)
})

test('a pool that is used up is an explained failure', () => {
  expect(() => freeSubnet({ pool, prefix: 26, used: ['10.0.0.0/8'] })).toThrow('is in use')
})

const { docker, labels, name } = sandbox()

test('a network gets the subnet asked for, and occupies it', async () => {
  const used = await docker.usedSubnets()
  expect(used).toContain('127.0.0.1/8')
  const subnet = freeSubnet({ pool: '10.243.0.0/16', prefix: 26, used })
  const network = name()
  const id = await docker.createNetwork({ name: network, subnet, labels })
  expect(await docker.usedSubnets()).toContain(subnet)

  const found = await docker.listNetworks({
    labels: Object.entries(labels).map((l) => l.join('=')),
  })
  expect(found).toEqual([
    { id, name: network, driver: 'bridge', labels, isEncrypted: false, subnets: [subnet] },
  ])
  const clash = await docker.createNetwork({ name: name(), subnet, labels }).catch((error) => error)
  expect(isSubnetTaken(clash)).toBe(true)
  expect(await docker.createNetwork({ name: network, labels }).catch((e) => e.status)).toBe(409)
  expect(await docker.removeNetwork(id)).toBe(true)
  expect(await docker.removeNetwork(id)).toBe(false)
})
