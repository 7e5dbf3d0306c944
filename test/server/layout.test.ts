import { expect, test } from 'bun:test'
import { layoutIn, unitText } from '../../src/server/layout.ts'
import { failsFast } from '../../src/server/upgrade/unit.ts'

test('the unit names the paths of its layout', () => {
  const layout = layoutIn('/somewhere')
  const unit = unitText(layout)
  expect(unit).toContain('ExecStart=/somewhere/usr/local/bin/davit serve\n')
  expect(unit).toContain('EnvironmentFile=/somewhere/etc/davit/davit.env\n')
  expect(layoutIn().unit).toBe('/etc/systemd/system/davit.service')
})

test('a problem at boot, such as an address that isn’t up yet, doesn’t leave Davit down', () => {
  const [about, run] = unitText(layoutIn()).split('[Service]')
  expect(about).toContain('\nStartLimitIntervalSec=0\n')
  for (const line of ['Restart=always', 'RestartSec=5', 'RestartPreventExitStatus=2'])
    expect(run).toContain(`\n${line}\n`)
})

test('while an upgrade or a move is open, each failed start is followed by another one at once', () => {
  const [about, run] = failsFast.split('[Service]')
  expect(about).toContain('\nStartLimitIntervalSec=10\nStartLimitBurst=5\n')
  expect(run).toBe('\nRestartSec=100ms\nRestartPreventExitStatus=\n')
})
