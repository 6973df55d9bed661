# pytest puts the folder of this file on sys.path, so that the tests can import words.
