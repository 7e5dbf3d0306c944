import { ButtonLink } from '../web/form.tsx'
import { procfileOffer } from './procfile.ts'
import type { Environment } from './store.ts'
import { settingsPath } from './paths.ts'

export const ProcfileNote = ({ environment }: { environment: Environment }) => {
  const offer = procfileOffer(environment)
  if (!offer?.isNew) return null
  const path = filledForm(environment)
  return (
    <div class="note procfile-note">
      <p>The repository has a Procfile with {listOf(offer.names)}.</p>
      <ButtonLink variant="outline" small href={path}>
        Use its processes
      </ButtonLink>
    </div>
  )
}

export const ProcfileLink = ({ environment }: { environment: Environment }) => {
  const offer = procfileOffer(environment)
  if (!offer) return null
  const path = filledForm(environment)
  return (
    <p class="note">
      The repository has a Procfile with {listOf(offer.names)}. <a href={path}>Fill them in</a>
    </p>
  )
}

const filledForm = (environment: Environment) => `${settingsPath(environment)}?procfile=1`

const list = new Intl.ListFormat('en')

const listOf = (names: string[]) => list.format(names)
