import { words } from '@acme/words'

export const greet = () => words.join(' ')
