import { ButtonLink } from '../web/form.tsx'
import { procfileOffer } from './procfile.ts'
import type { Environment } from './store.ts'
import { environmentPath } from './views.tsx'

/** Offers what a Procfile has and the environment has not, where its processes are shown. */
export const ProcfileNote = ({ environment }: { environment: Environment }) => {
  const offer = procfileOffer(environment)
  if (!offer?.isNew) return null
  const path = filledForm(environment)
  return (
    <div class="note procfile-note">
      <p>The repository has a Procfile with {listOf(offer.names)}.</p>
      <ButtonLink variant="outline" small opens={path}>
        Use its processes
      </ButtonLink>
    </div>
  )
}

/** In the form itself: fills it in. */
export const ProcfileLink = ({ environment }: { environment: Environment }) => {
  const offer = procfileOffer(environment)
  if (!offer) return null
  const path = filledForm(environment)
  return (
    <p class="note">
      The repository has a Procfile with {listOf(offer.names)}.{' '}
      <a href={path} hx-get={path} hx-target="closest dialog" hx-swap="outerHTML">
        Fill them in
      </a>
    </p>
  )
}

const filledForm = (environment: Environment) => `${environmentPath(environment)}/edit?procfile=1`

const list = new Intl.ListFormat('en')

const listOf = (names: string[]) => list.format(names)
