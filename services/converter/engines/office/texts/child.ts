import { answerParent, timeConversion } from '../../answer-parent.ts';
import { convertText } from './convert.ts';
import { textTask } from './task.ts';

await answerParent(textTask, (task) => timeConversion(() => convertText(task)));
