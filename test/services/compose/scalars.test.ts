import { describe, expect, test } from 'bun:test'
import { refusalOf } from './refusal.ts'
import { fileWith, stackFrom, web } from './stack.ts'

test('a value is taken as the file writes it', () => {
  const pairs = 'UMASK: 0002, VERSION: 1.10, MODE: 0o644, HEX: 0x1F, BIG: 1e9, ON: yes, UP: True'
  expect([...web(`environment: {${pairs}}`).environment].map((pair) => pair.join(': '))).toEqual(
    pairs.split(', '),
  )
  const { command, labels, user, ports } = web(
    'command: [serve, 1.10, 0777, no]\nlabels: {v: 2.0}\nuser: 0501\nports: [22:22, 8080]',
  )
  expect(command).toEqual(['serve', '1.10', '0777', 'no'])
  expect([labels.get('v'), user]).toEqual(['2.0', '0501'])
  expect(ports.map(({ container }) => container)).toEqual([22, 8080])
})

describe('a scalar that means a number', () => {
  const modeOf = (mode: string) =>
    stackFrom(
      fileWith(
        `configs: [{source: c, mode: ${mode}}]\nvolumes: [{type: tmpfs, target: /t, tmpfs: {mode: ${mode}}}]`,
        'configs: {c: {content: x}}',
      ),
    )

  test.each([
    ['0o400', 0o400],
    ['0400', 0o400],
    ['"0400"', 0o400],
    ['"0o400"', 0o400],
    ['0o644', 0o644],
    ['0o1777', 0o1777],
    ['01777', 0o1777],
    ['0o444', 0o444],
  ])('the mode %s is octal', (written, mode) => {
    const { services, notes } = modeOf(written)
    const { files, tmpfs } = services.get('web')!
    expect([files[0]!.mode, tmpfs[0]!.options]).toEqual([mode, `mode=${mode.toString(8)}`])
    expect(notes).toEqual([])
  })

  test('a mode without a leading zero is octal too, which is noted', () => {
    const { services, notes } = modeOf('444')
    expect(services.get('web')!.files[0]!.mode).toBe(0o444)
    expect(notes[0]).toContain('services.web.volumes[0].tmpfs.mode is read as the octal mode 0444')
  })

  test.each(['256', '420', '1023'])('the mode %s is a decimal number, and refused', (mode) => {
    expect(refusalOf(() => modeOf(mode))).toContain('a decimal number')
  })

  test.each(['0x124', '0b1', '292', '0o9', '1e3', '4.0', 'rw', 'true', '0o40', '-0400'])(
    'the mode %s is refused',
    (mode) => {
      expect(refusalOf(() => modeOf(mode))).toContain('must be a mode such as 0444')
    },
  )

  test.each([
    'pids_limit: 0100',
    'pids_limit: 0o100',
    'pids_limit: 1e3',
    'cpus: 1:30',
    'mem_limit: 0100000000',
    'mem_limit: 1e9',
    'shm_size: 0x4000000',
    'ports: [0100]',
    'ports: ["08080:80"]',
    'expose: [0o120]',
    'stop_grace_period: 90',
    'healthcheck: {retries: 007}',
    'read_only: 1',
    'init: maybe',
  ])('%s can be read in two ways, or in none, and is refused', (line) => {
    expect(refusalOf(() => web(line))).toContain(`services.web.${line.split(':', 1)[0]}`)
  })

  test('yes and no, on and off are what they are in Compose', () => {
    const { readOnly, init, privileged } = web('read_only: yes\ninit: Off\nprivileged: "NO"')
    expect({ readOnly, init, privileged }).toEqual({
      readOnly: true,
      init: false,
      privileged: false,
    })
    expect(web('cpus: .5\nrestart: no')).toMatchObject({ cpus: 0.5, restart: { name: 'no' } })
  })
})
