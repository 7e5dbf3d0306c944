import type { Config } from '../../config.ts'
import { AppError } from '../../platform/errors.ts'
import type { User } from '../../web/factory.ts'
import type { ContainerOwner } from '../place.ts'

type Request = { user: Pick<User, 'id' | 'role'>; place: ContainerOwner }

/** Expects that the user may already see the container. */
export const mayOpenTerminal = ({ terminal }: Pick<Config, 'terminal'>, { user, place }: Request) =>
  terminal !== 'off' &&
  ((place.kind === 'own' && place.owner?.id === user.id) ||
    (terminal === 'all' && user.role === 'admin'))

export function refuseTerminal(config: Pick<Config, 'terminal'>, asked: Request) {
  if (mayOpenTerminal(config, asked)) return
  const why =
    config.terminal === 'off'
      ? 'Terminals are turned off on this server (DAVIT_TERMINAL=off).'
      : 'This container isn’t yours. Set DAVIT_TERMINAL=all to let admins open terminals in every container.'
  throw new AppError('forbidden', why)
}
