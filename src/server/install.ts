import { ownPorts } from '../addresses/host-ports.ts'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasUsers } from '../accounts/store.ts'
import { ConfigError, originAt, originOf, parseConfig } from '../config.ts'
import type { Config } from '../config.ts'
import { ownAddresses } from '../domains/public-address.ts'
import { openCurrent } from '../doctor/current.ts'
import { Failure } from '../platform/errors.ts'
import { isAnyAddress, isLoopback, nearAddress } from '../platform/hosts.ts'
import { asDavit } from './accounts.ts'
import { installSteps } from './install-steps.ts'
import { judge } from './judge.ts'
import type { Judged } from './judge.ts'
import { settingsIn, settingsOf } from './environment-file.ts'
import { layoutIn } from './layout.ts'
import type { Layout } from './layout.ts'
import { inspectMachine, refuseOtherEngine } from './machine.ts'
import type { Firewall, Machine } from './machine.ts'
import { refuseMoved } from './move/journal.ts'
import { tryRun } from './run.ts'
import type { Work } from './run.ts'
import { runsCurrent } from './service.ts'
import { stepsLeft, takeSteps } from './steps.ts'
import type { Step } from './steps.ts'
import { finishing } from './upgrade/finish.ts'
import { refuseDuringUpgrade } from './locks.ts'
import { neverAborted } from '../platform/pause.ts'

export const startingAsBefore = 'Starting Davit as it was before.'

/** Omitted settings keep their values. */
export type Choice = { domain?: string; email?: string; host?: string; port?: string }

export type Plan = {
  layout: Layout
  machine: Machine
  config: Config
  findings: Judged[]
  /** The remaining steps; empty when everything is installed and runs. */
  steps: Step[]
  /**
   * What is installed already. After an interrupted upgrade the only step is
   * to finish it: further steps are only known afterwards.
   */
  found: 'nothing' | 'part' | 'running' | 'upgrade'
}

/** True when this server already has settings, so that davit install doesn't ask for any. */
export const hasSettings = (layout = layoutIn()) => existsSync(layout.settings)

/** Applies the choice to the existing settings. Throws ConfigError for an invalid one. */
export function settingsFor(choice: Choice, layout = layoutIn()) {
  const chosen = {
    DAVIT_DATA_DIR: layout.data,
    DAVIT_DOMAIN: choice.domain,
    DAVIT_ACME_EMAIL: choice.email,
    DAVIT_HOST: choice.host,
    DAVIT_PORT: choice.port,
  }
  const settings = Object.fromEntries(
    Object.entries(chosen).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
  const config = parseConfig({ ...settingsOf(settingsIn(layout) ?? ''), ...settings })
  if (config.port === 0)
    throw new ConfigError(
      'DAVIT_PORT must be a port from 1 to 65535 here: 0 is any free one, at which nothing finds Davit',
    )
  return { settings, config }
}

/** Changes nothing. Throws while an upgrade runs. */
export async function planInstall(choice: Choice, source: string): Promise<Plan> {
  const layout = layoutIn()
  refuseDuringUpgrade(layout)
  refuseMoved(layout)
  if (existsSync(layout.joined))
    throw new Failure(
      'has_joined',
      'This server has joined another one’s Davit.',
      'Remove it there, then run davit leave here.',
    )
  const { settings, config } = settingsFor(choice, layout)
  const byHand =
    'Remove it from the settings, or set Davit up yourself: see /docs/install, By hand.'
  refuseOtherEngine(config, 'davit install', byHand)
  const machine = await inspectMachine(layout, ownPorts(config))
  const origin = originAt({ ...config, host: nearAddress(config.host) })
  const findings = judge(machine)
  const first = await stepsLeft([finishing(layout)])
  if (first.length > 0) return { layout, machine, config, findings, steps: first, found: 'upgrade' }
  const installed = await versionOf(layout.executable)
  const all = installSteps({ layout, machine, source, installed, settings, origin })
  const steps = await stepsLeft(all)
  const own = [layout.executable, layout.settings, layout.unit].filter(existsSync)
  const found = machine.service.isActive ? 'running' : own.length > 0 ? 'part' : 'nothing'
  return { layout, machine, config, findings, steps, found }
}

export async function versionOf(executable: string) {
  if (!existsSync(executable)) return null
  const { status, lines } = await tryRun({ argv: ['davit', '--version'], file: executable })
  return status === 0 ? (lines[0] ?? null) : null
}

/**
 * Runs the steps of a plan. When one fails, all but packages and the user are
 * undone, an earlier installation runs again, and the error is thrown.
 */
export async function install({ steps, machine, layout }: Plan, work: Work) {
  try {
    await takeSteps(steps, work)
  } catch (error) {
    const calm = { ...work, signal: neverAborted() }
    await tryRun({ ...calm, argv: ['systemctl', 'daemon-reload'] })
    if (machine.service.isActive && !(await runsCurrent(layout))) {
      work.say(startingAsBefore)
      await tryRun({ ...calm, argv: ['systemctl', 'restart', 'davit.service'], minutes: 12 })
    }
    throw error
  }
}

/** The next steps for the operator, shown at the end of an installation. */
export function nextSteps({ config, layout, machine }: Plan): string[] {
  const addresses = ownAddresses()
  const address = originOf({ ...config, host: shown(config.host, addresses) })
  return [
    `Address:     ${address}`,
    ...asDavit(() => firstAccount(layout, address)),
    ...reaching(config),
    ...dnsRecords(config, addresses),
    ...openPorts(config, machine.firewall),
    `Settings:    ${layout.settings}; after a change: systemctl restart davit`,
    'Log:         journalctl -u davit',
  ]
}

/** Empty once an account exists. A setup code exists only if Davit can be reached from elsewhere. */
function firstAccount({ data }: Layout, address: string) {
  using opened = openCurrent({ dataDir: data })
  if (!opened) return []
  if (hasUsers(opened.db)) return []
  const code = join(data, 'setup-code')
  return [
    `First step:  create the first account at ${address}/auth/register`,
    ...(existsSync(code) ? [`Setup code:  ${readFileSync(code, 'utf8').trim()}`] : []),
  ]
}

/** Without a domain Davit may listen only on this machine. */
function reaching({ domain, url, host, port }: Config) {
  if (domain || url || !isLoopback(host)) return []
  return [
    `Reach it by: ssh -L ${port}:127.0.0.1:${port} USER@THIS-SERVER, then open http://127.0.0.1:${port}`,
    'Domains:     run davit install --domain DOMAIN when one leads to this server',
  ]
}

function dnsRecords({ domain }: Config, addresses: string[]) {
  if (!domain) return []
  const to = addresses.length > 0 ? addresses.join(' and ') : 'this server’s public address'
  return [`DNS:         ${domain} and *.${domain} must lead to ${to} (A and AAAA records)`]
}

/** Lists the ports to open, with the command for the active firewall. */
export function openPorts(config: Config, firewall: Firewall | null): string[] {
  const [own, ...edge] = ownPorts(config)
  const ports = [...(isLoopback(config.host) ? [] : [own!]), ...edge]
  if (ports.length === 0) return []
  const open = ports.map((port) => `${port}/tcp`)
  const hint = {
    ufw: open.map((port) => `ufw allow ${port}`).join(' && '),
    firewalld: `firewall-cmd --permanent ${open.map((port) => `--add-port=${port}`).join(' ')} && firewall-cmd --reload`,
    nftables: 'accept them in /etc/nftables.conf',
  }
  const how = firewall ? ` ${firewall} is active: ${hint[firewall]}` : ''
  return [`Open ports:  ${open.join(', ')}, here and at your provider.${how}`]
}

const shown = (host: string, addresses: string[]) =>
  isAnyAddress(host) ? (addresses[0] ?? 'THIS-SERVER') : host
