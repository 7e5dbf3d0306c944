import { describe, expect, test } from 'bun:test'
import { importDokploy } from '../../../src/services/compose/import-dokploy.ts'
import { openTemplate } from '../../../src/services/compose/open.ts'
import { stackOf } from '../../../src/services/compose/template.ts'
import { askedFor, fillValues, withDerived } from '../../../src/services/compose/values.ts'
import { addressOf, filled, origin } from './filled.ts'
import { refusalOf } from './refusal.ts'

describe('a template of Dokploy', () => {
  const compose = `
services:
  web:
    image: plausible:3
    environment:
      BASE_URL: \${BASE_URL}
      SECRET: \${SECRET_KEY_BASE}
      NOTE: \${NOTE}
      DOMAIN: \${DOMAIN}
      CALLBACK: wss://\${DOMAIN}/socket
    volumes: [../files/conf:/etc/conf, ../files/data:/data]
    networks: [dokploy-network, default]
networks:
  dokploy-network: {external: true}
`
  const config = `
[variables]
main_domain = "\${domain}"
db_pass = "\${password:20}"
url = "https://\${main_domain}/x?k=\${hash:6}"
secret = "\${base64:48}"
payload = '{"role": "\${role}", "exp": 1}'
role = "service"

[[config.domains]]
serviceName = "web"
port = 8000
host = "\${main_domain}"

[config]
isolated = true

[config.env]
BASE_URL = "\${url}"
SECRET_KEY_BASE = "\${secret}"
NOTE = "a $b \${unknown} c"
DOMAIN = "\${main_domain}"
TOKEN = "\${jwt:secret:payload}"
MAIL = "\${email}"
ID = "\${uuid}"
DIRECT = "\${password}"

[[config.mounts]]
filePath = "/conf/config.xml"
content = """<p>\${db_pass}</p> $host \${nope}"""
`
  const template = importDokploy({ compose, config }, origin, { name: 'imported' })

  test('is read from its two files', () => {
    expect(template.about.name).toBe('imported')
    expect(template.expose).toEqual([{ service: 'web', port: 8000 }])
  })

  test('has its helpers made once, and its variables in each other', () => {
    const values = filled(template)
    const stack = stackOf(template, values)
    const env = stack.services.get('web')!.environment
    // written for a proxy with HTTPS; what is spoken at the port of this host is plain
    expect(env.get('BASE_URL')).toMatch(/^http:\/\/web\.example\.com:8000\/x\?k=[0-9a-f]{6}$/)
    expect(env.get('DOMAIN')).toBe('web.example.com')
    expect(env.get('CALLBACK')).toBe('ws://web.example.com:8000/socket')
    expect(Buffer.from(env.get('SECRET')!, 'base64')).toHaveLength(48)
    expect(env.get('NOTE')).toBe('a $b ${unknown} c')
    expect(values.get('MAIL')).toMatch(/^[a-z0-9]{12}@example\.com$/)
    expect(values.get('ID')).toMatch(/^[0-9a-f-]{36}$/)
    expect(values.get('DIRECT')).toMatch(/^[A-Za-z0-9]{16}$/)
    const claims = JSON.parse(
      Buffer.from(values.get('TOKEN')!.split('.')[1]!, 'base64url').toString(),
    )
    expect(claims).toMatchObject({ role: 'service', exp: 1 })

    const kept = fillValues(template.variables, { given: new Map() })
    const moved = withDerived(template.variables, kept, () => 'https://other.example.com')
    const again = withDerived(
      template.variables,
      fillValues(template.variables, { given: new Map(), kept }),
      addressOf,
    )
    expect(moved.get('BASE_URL')).toStartWith('https://other.example.com/x?k=')
    expect(again.get('BASE_URL')!.slice(-6)).toBe(moved.get('BASE_URL')!.slice(-6))
    expect(again.get('SECRET_KEY_BASE')).toBe(moved.get('SECRET_KEY_BASE')!)
  })

  test('has its mounts written as files, and its directories made volumes', () => {
    const values = filled(template)
    const stack = stackOf(template, values)
    const web = stack.services.get('web')!
    const [file] = web.files
    expect(file!.path).toBe('/etc/conf/config.xml')
    expect(file!.content).toMatch(/^<p>[A-Za-z0-9]{20}<\/p> \$host \$\{nope\}$/)
    expect(web.volumes).toMatchObject([
      { volume: 'files-conf', path: '/etc/conf' },
      { volume: 'files-data', path: '/data' },
    ])
    expect(stack.dangers).toEqual([])
  })

  test('asks for what the user may change', () => {
    expect(askedFor(template.variables).map(({ name }) => name)).toEqual(['NOTE', 'DIRECT'])
  })

  const importing = (compose: string, config: string) =>
    importDokploy({ compose, config }, origin, { name: 'x' })
  const environmentOf = (compose: string, config: string, given: Record<string, string> = {}) => {
    const template = importing(compose, config)
    const stack = stackOf(template, filled(template, given))
    return Object.fromEntries(stack.services.get('web')!.environment)
  }

  test('passes over mounts that are no files: those are volumes of the Compose file', () => {
    const config = `[[config.mounts]]
name = "data"
mountPath = "/data"
[[config.mounts]]
filePath = "empty.txt"
[[config.mounts]]
filePath = "a.txt"
content = ""
`
    const template = importing(
      'services: {web: {image: a, volumes: ["data:/data", "../files/a.txt:/a.txt"]}}',
      config,
    )
    const web = stackOf(template, filled(template)).services.get('web')!
    expect(web.files).toEqual([{ path: '/a.txt', content: '', mode: 0o644 }])
    expect(web.volumes).toMatchObject([{ volume: 'data' }])
  })

  test('has the environment of the config in its .env', () => {
    const config = '[config.env]\nA = "1"\nB = "2"\n"no-name" = "3"'
    const files = [
      'env_file: .env',
      'env_file: [./.env]',
      'env_file: [{path: .env, required: true}]',
    ]
    for (const file of files)
      expect(
        environmentOf(`services: {web: {image: a, ${file}, environment: {B: own}}}`, config),
      ).toEqual({
        A: '1',
        B: 'own',
      })
    const list = 'services: {web: {image: a, env_file: .env, environment: [B=own]}}'
    expect(environmentOf(list, config)).toEqual({ A: '1', B: 'own' })
    const none = environmentOf('services: {web: {image: a, environment: {C: "$A"}}}', config)
    expect(none).toEqual({ C: '1' })
  })

  const abc = 'services: {web: {image: a, environment: {A: "$A", B: "$B", C: "$C"}}}'

  test.each([
    ['a table', '[config.env]\nA = 1\nB = true\nC = "3"'],
    ['lines', '[config]\nenv = ["A=1", "# see https://x?y=z", "B=\\"true\\"", "C=3", "", "D"]'],
    ['tables', '[[config.env]]\nA = 1\n[[config.env]]\nB = true\nC = "3"'],
    [
      'names and values',
      '[[config.env]]\nname = "A"\nvalue = 1\n[[config.env]]\nkey = "B"\nvalue = true\n[[config.env]]\nkey = "C"\nvalue = "3"',
    ],
    ['what is no value beside them', '[config.env]\nA = 1\nB = true\nC = "3"\nmounts = []'],
  ])('takes its environment as %s', (_, config) => {
    expect(environmentOf(abc, config)).toEqual({ A: '1', B: 'true', C: '3' })
  })

  test('has variables of the environment in each other, and asks for one that is only itself', () => {
    const config = '[config.env]\nA = "${A}"\nB = "<${A}>"\nC = "${B}${C}"'
    const { variables } = importing(abc, config)
    expect(askedFor(variables).map(({ name }) => name)).toContain('A')
    expect(environmentOf(abc, config, { A: 'x' })).toEqual({ A: 'x', B: '<x>', C: '<x>${C}' })
    const own = importing(abc, '[config.env]\nA = "${A:-1}"\nB = "${B-}"').variables
    expect(['A', 'B', 'C'].map((name) => own.get(name)!.default)).toEqual(['1', '', null])
    const named = importing(abc, '[variables]\na = "${A:-1}"\n[config.env]\nA = "${a}"').variables
    expect(named.get('A')).toMatchObject({ default: '1', hidden: false })
  })

  test('has the address of its own domain for a host below the one that is given', () => {
    const config = `[variables]
main = "\${domain}"
other = "x-\${domain}"
[config.env]
A = "https://\${main}"
B = "https://\${other}/x"
C = "\${other}"
[[config.domains]]
serviceName = "web"
port = 80
host = "\${main}"
[[config.domains]]
serviceName = "b"
port = 81
host = "\${other}"`
    expect(environmentOf(abc, config)).toEqual({
      A: 'http://web.example.com',
      B: 'http://b.example.com:81/x',
      C: 'b.example.com',
    })
  })

  test('has a helper’s value in a variable that is called as the helper', () => {
    const config =
      '[variables]\nusername = "${username}"\njwt_key = "${jwt:jwt_key}"\n[config.env]\nA = "${username}"\nB = "${jwt_key}"'
    const env = environmentOf(abc, config)
    expect(env.A).toMatch(/^[a-z0-9]{12}$/)
    expect(env.B).toMatch(/^[0-9a-f]{256}$/)
  })

  test('asks for a value that the config leaves empty and the file needs', () => {
    const needs = 'services: {web: {image: a, environment: {A: "${A:?}"}}}'
    const { variables } = importing(needs, '[config.env]\nA = ""')
    expect(variables.get('A')).toMatchObject({ required: true, default: null, hidden: false })
  })

  test('is reported when it comes as one text, in base64', () => {
    const blob = Buffer.from(JSON.stringify({ compose, config })).toString('base64')
    const opened = openTemplate(blob, origin, { name: 'imported' })
    expect(opened.expose).toEqual(template.expose)
  })

  test('with a template.toml that can’t be read is refused', () => {
    const bad = (config: string) =>
      refusalOf(() => importDokploy({ compose, config }, origin, { name: 'x' }))
    expect(bad('a = ')).toContain('template.toml: This isn’t valid TOML')
    expect(bad('[[config.domains]]\nserviceName = "web"\nport = "x"')).toContain(
      'config.domains.0.port',
    )
    expect(bad('#'.repeat(1024 * 1024 + 1))).toContain('larger than 1 MiB')
  })

  describe('made to cost is refused:', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
    const fill = (config: string) =>
      refusalOf(() => filled(importDokploy({ compose, config }, origin, { name: 'x' })))

    test('values that double each other', () => {
      const doubling = numbers(40).map((i) => `a${i + 1} = "\${a${i}}\${a${i}}"`)
      const toml = ['[variables]', 'a0 = "0123456789"', ...doubling, '[config.env]', 'X = "${a40}"']
      expect(fill(toml.join('\n'))).toContain('over 4 MiB')
    })

    test('a long chain of values', () => {
      const chain = numbers(400).map((i) => `a${i + 1} = "\${a${i}}"`)
      expect(fill(['[variables]', ...chain.reverse(), 'a0 = "0"'].join('\n'))).toContain(
        '100 levels deep',
      )
    })

    test('more passwords than anyone needs', () => {
      expect(fill(`[config.env]\nX = "${'${password}'.repeat(60_000)}"`)).toContain('2000 values')
    })

    test('an environment that very many services have', () => {
      const services = numbers(3_500).map((i) => `s${i}: *s`)
      const compose = `x-s: &s {env_file: .env}\nservices: {${services.join(',')}}`
      const config = ['[config.env]', ...numbers(490).map((i) => `A${i} = 1`)].join('\n')
      const refusal = refusalOf(() => importDokploy({ compose, config }, origin, { name: 'x' }))
      expect(refusal).toContain('3500 services use 490 variables each')
    })

    test('more tables, entries or files than anyone writes', () => {
      expect(
        fill(
          numbers(40_000)
            .map((i) => `[a${i}]`)
            .join('\n'),
        ),
      ).toContain('5000 of the signs')
      const keys = numbers(501).map((i) => `k${i} = 1`)
      expect(fill(['[variables]', ...keys].join('\n'))).toContain('variables: has more than 500')
      const mounts = numbers(101).map(() => '[[config.mounts]]\nfilePath = "a"\ncontent = ""')
      expect(fill(mounts.join('\n'))).toContain('config.mounts: has more than 100')
    })
  })
})
